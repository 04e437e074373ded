# The licences of everything whose code is compiled into the module, installed into the wheel's
# dist-info/licenses/third_party. They are taken from where each package keeps its own at build
# time; nothing third-party is in the repository. Included for wheels only.
set(licences ${PROJECT_BINARY_DIR}/licences)
file(REMOVE_RECURSE ${licences})

function(spillway_licence name)
  foreach(candidate IN LISTS ARGN)
    if(EXISTS ${candidate})
      configure_file(${candidate} ${licences}/${name}.txt COPYONLY)
      return()
    endif()
  endforeach()
  message(WARNING "no licence text found for ${name}: the wheel must not be given away without it")
endfunction()

# The same interpreter, whose environment holds the packages.
execute_process(COMMAND ${Python_EXECUTABLE} -c [[
import importlib.metadata as m
for name, wanted in (("nanobind", "LICENSE"), ("numpy", "LICENSE.txt")):
    files = m.distribution(name).files or []
    print(next((f.locate() for f in files if f.parent.name == "licenses" and f.name == wanted), ""))
]] OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" found "${found}")
list(GET found 0 nanobind_licence)
list(GET found 1 numpy_licence)
spillway_licence(nanobind ${nanobind_licence})
spillway_licence(numpy-headers ${numpy_licence})

get_target_property(json_include nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
list(GET json_include 0 json_include)
spillway_licence(nlohmann-json
  /usr/share/doc/nlohmann-json3-dev/copyright
  ${json_include}/../share/doc/nlohmann-json3-dev/copyright
  ${json_include}/../share/licenses/nlohmann-json/LICENSE.MIT
  ${json_include}/../LICENSE.MIT)

# These go into the wheel as libraries of their own.
function(spillway_library_licence name package include)
  spillway_licence(${name}
    /usr/share/doc/${package}/copyright
    ${include}/../share/doc/${package}/copyright
    ${include}/../LICENSE)
endfunction()
spillway_library_licence(re2 libre2-dev ${RE2_INCLUDE_DIR})
spillway_library_licence(libjpeg-turbo libjpeg62-turbo-dev "${JPEG_INCLUDE_DIRS}")
spillway_library_licence(libpng libpng-dev "${PNG_PNG_INCLUDE_DIR}")
spillway_library_licence(libwebp libwebp-dev ${WEBP_INCLUDE_DIR})

# nanobind carries robin-map as headers that state their licence in their first lines.
set(robin_header ${nanobind_ROOT}/../ext/robin_map/include/tsl/robin_map.h)
if(EXISTS ${robin_header})
  file(READ ${robin_header} robin)
  string(FIND "${robin}" "*/" robin_end)
  string(SUBSTRING "${robin}" 0 ${robin_end} robin)
  string(REGEX REPLACE "^/\\*+" "" robin "${robin}")
  file(WRITE ${licences}/robin-map.txt "${robin}\n")
endif()

install(DIRECTORY ${licences}/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses/third_party
  COMPONENT python)
