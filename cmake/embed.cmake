# cmake -DTEXT=FILE -DNAME=constant -DHEADER=FILE.hpp -DSPACE=assay::store::sql -DOUT=FILE.cpp -P embed.cmake: a text file as a
# C++ constant that HEADER declares in the namespace SPACE.
file(READ "${TEXT}" text)
if(text MATCHES "\\)sql\"")
  message(FATAL_ERROR "${TEXT}: the text holds the end of a raw literal")
endif()
file(WRITE "${OUT}" "#include \"${HEADER}\"\n\nconst char* const ${SPACE}::${NAME} = R\"sql(\n${text})sql\";\n")
