#include "access/protected_projects.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "access/owner_file.h"
#include "base/status_macros.h"
#include "model/names.h"

namespace hearth::access {
namespace {

Status CheckProject(const std::string& project) {
  return model::DatabaseName::Parse("projects/" + project + "/databases/(default)").status();
}

Result<std::vector<std::string>> Read(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file && errno == ENOENT) return std::vector<std::string>();
  std::vector<std::string> projects;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    if (!CheckProject(line).ok()) {
      return Status(Code::kFailedPrecondition, path + ": '" + line + "' is not a project id");
    }
    projects.push_back(line);
  }
  if (!file.eof()) return Status(Code::kFailedPrecondition, path + " cannot be read");
  return projects;
}

}  // namespace

Result<std::vector<std::string>> RememberProtectedProjects(const std::string& folder,
                                                           const std::vector<std::string>& more) {
  ASSIGN_OR_RETURN(std::vector<std::string> projects, Read(folder + "/" + kProtectedProjectsFile));
  const size_t known = projects.size();
  for (const std::string& project : more) {
    RETURN_IF_ERROR(CheckProject(project));
    if (std::ranges::find(projects, project) == projects.end()) projects.push_back(project);
  }
  if (projects.size() == known) return projects;
  std::string lines;
  for (const std::string& project : projects) lines += project + "\n";
  RETURN_IF_ERROR(WriteOwnerFile(folder, kProtectedProjectsFile, lines));
  return projects;
}

}  // namespace hearth::access
