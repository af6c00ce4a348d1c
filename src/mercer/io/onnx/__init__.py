"""Models as graphs of plain ONNX operators, for programs that have neither mercer nor Python."""
