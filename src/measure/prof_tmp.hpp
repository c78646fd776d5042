#pragma once
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
struct Prof {
  using C = std::chrono::steady_clock;
  std::map<std::string, std::pair<double, int>> sums;
  ~Prof() { dump(); }
  void dump() {
    FILE* f = std::fopen("/tmp/prof.txt", "a");
    for (auto& [k, v] : sums)
      std::fprintf(f, "%-26s %9.2f ms %6d  %8.1f us each\n", k.c_str(), v.first * 1e3, v.second,
                   v.first * 1e6 / v.second);
    std::fprintf(f, "\n");
    std::fclose(f);
  }
  void add(const std::string& k, double s) {
    auto& v = sums[k];
    v.first += s;
    ++v.second;
  }
  static Prof& get() {
    static Prof p;
    return p;
  }
};
struct Span {
  std::string k;
  Prof::C::time_point t = Prof::C::now();
  explicit Span(std::string key) : k(std::move(key)) {}
  ~Span() { Prof::get().add(k, std::chrono::duration<double>(Prof::C::now() - t).count()); }
};
