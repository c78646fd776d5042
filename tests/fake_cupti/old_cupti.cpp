// A library that is CUPTI's by its name alone.
extern "C" int cuptiGetResultString(int, const char**) { return 0; }
