#include "app/run/recorder.hpp"

#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "rank/common_choices.hpp"

namespace fatune {

Recorder::Recorder(RunReport header, ResultFiles files)
    : report_(std::move(header)), files_(std::move(files)) {}

void Recorder::set_device(const DeviceLimits& limits) {
  settle();
  report_.device = limits;
}

void Recorder::set_gate(GateReport gate) {
  settle();
  report_.gate = std::move(gate);
}

void Recorder::set_disturbances(std::vector<std::string> disturbances) {
  settle();
  report_.disturbances = std::move(disturbances);
}

void Recorder::add(std::size_t number, ProblemReport problem) {
  settle();
  const auto place = std::distance(numbers_.begin(), numbers_.insert(number).first);
  report_.problems.insert(report_.problems.begin() + place, std::move(problem));
  report_.choices = common_choices(report_.problems);
  note_wall_time();
  saving_ = std::async(std::launch::async, [this] { save(Moment::meanwhile); });
}

void Recorder::close(bool complete, double busy_s) {
  settle();
  report_.complete = complete;
  report_.busy_s = busy_s;
  note_wall_time();
  save(Moment::at_the_end);
}

void Recorder::note_wall_time() {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  report_.wall_s = wall.count();
}

void Recorder::settle() {
  if (saving_.valid()) {
    saving_.get();
  }
}

void Recorder::save(Moment moment) {
  try {
    write_results(files_, report_, moment);
    file_error_.reset();
  } catch (const Error& error) {
    if (!file_error_) {
      spdlog::warn("results are not in their files yet: {}", error.what());
    }
    file_error_ = error;
  }
}

}  // namespace fatune
