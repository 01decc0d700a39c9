// LiteRT.js, in a page or a worker. Serve node_modules/@litertjs/core/wasm as /litert/wasm.
import { loadAndCompile, loadLiteRt, Tensor } from "@litertjs/core";

let ready;

// pixels: height * width * channels levels, 0 to 255. Returns the logits.
export async function classify(path, pixels) {
  ready ??= loadLiteRt("/litert/wasm");
  await ready;
  const model = await loadAndCompile(path, { accelerator: "wasm" });
  const [input] = model.getInputDetails();
  const image = new Tensor(Float32Array.from(pixels), Array.from(input.shape));
  const outputs = await model.run({ [input.name]: image });
  const logits = Array.from(await outputs.logits.data());
  for (const one of [image, ...Object.values(outputs), model]) one.delete();
  return logits;
}
