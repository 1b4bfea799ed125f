# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# accc_add_model(<name> MODEL <file>
#                [LOSS <spec>] [OPTIMIZER <spec>] [TARGET <target>[,<target>]] [ARCH <arch>[,<arch>...]]
#                [PRECISION <type>] [WEIGHTS embed|beside|none] [FREEZE <regex>]
#                [DEFINES <dim>=<n>[,<n>...]...] [CUSTOM_OPS <target or file>...] [OPTIONS <option>...])
#
# Compiles a model at build time, whenever the model, the compiler or a library of custom operators changed, into <name>.so and the
# typed header <name>.h in the current binary folder. Each argument is the option of `accc compile`
# of that name (DEFINES: its -D); OPTIONS are passed as they are. Gives an interface target <name>, for
# programs to link:
#   - it brings accc::runtime and the folder of <name>.h
#   - programs find the libraries of CUSTOM_OPS where they lie now (RPATH)
#   - it defines ACCC_MODEL_<name> as the path of the library, for accc::Model::load
function(accc_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG ""
    "MODEL;LOSS;OPTIMIZER;TARGET;ARCH;PRECISION;WEIGHTS;FREEZE" "DEFINES;CUSTOM_OPS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "accc_add_model(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_MODEL)
    message(FATAL_ERROR "accc_add_model(${name}): MODEL, the file to compile, is missing")
  endif()
  get_filename_component(model ${ARG_MODEL} ABSOLUTE)
  if(NOT EXISTS ${model})
    message(FATAL_ERROR "accc_add_model(${name}): there is no file ${model}")
  endif()

  set(options)
  foreach(option LOSS OPTIMIZER TARGET ARCH PRECISION WEIGHTS FREEZE)
    if(ARG_${option})
      string(TOLOWER ${option} flag)
      list(APPEND options --${flag} ${ARG_${option}})
    endif()
  endforeach()
  foreach(define ${ARG_DEFINES})
    list(APPEND options -D ${define})
  endforeach()

  set(custom_ops)
  foreach(custom ${ARG_CUSTOM_OPS})
    if(TARGET ${custom})
      set(custom $<TARGET_FILE:${custom}>)
    else()
      get_filename_component(custom ${custom} ABSOLUTE)
    endif()
    list(APPEND options --custom-ops ${custom})
    list(APPEND custom_ops ${custom})
  endforeach()

  set(library ${CMAKE_CURRENT_BINARY_DIR}/${name}.so)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}.h)
  add_custom_command(OUTPUT ${library} ${header}
    COMMAND accc::accc compile ${model} -o ${library} --header ${header} ${options} ${ARG_OPTIONS}
    DEPENDS ${model} accc::accc ${custom_ops}
    COMMENT "Compiling model ${name}"
    VERBATIM)
  add_custom_target(${name}_compile DEPENDS ${library} ${header})

  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_compile)
  target_link_libraries(${name} INTERFACE accc::runtime)
  foreach(custom ${custom_ops})
    target_link_options(${name} INTERFACE LINKER:-rpath,$<PATH:GET_PARENT_PATH,${custom}>)
  endforeach()
  target_include_directories(${name} INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(${name} INTERFACE ACCC_MODEL_${name}="${library}")
endfunction()
