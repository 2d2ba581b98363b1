#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace hearth::support {

// The ports of 127.0.0.1 on which a process of the same user listens, also those that it does not
// report.
std::vector<uint16_t> ListeningPorts(pid_t process);

}  // namespace hearth::support
