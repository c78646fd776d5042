// Exists for its precompiled headers: see CMakeLists.txt.
int main() { return 0; }
