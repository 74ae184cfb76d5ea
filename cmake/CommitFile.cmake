# Writes FILE, a source that defines supple::commit() for the commit of SOURCE, touching it only if it changed. "unknown" outside a checkout.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE commit ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  set(commit unknown)
endif()
file(WRITE ${FILE}.new "#include \"kernels/base/version.hpp\"\n\nnamespace supple {\nconst char* commit() { return \"${commit}\"; }\n}\n")
file(COPY_FILE ${FILE}.new ${FILE} ONLY_IF_DIFFERENT)
file(REMOVE ${FILE}.new)
