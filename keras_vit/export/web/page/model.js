// A .tflite file in LiteRT.js.

import { loadAndCompile, loadLiteRt, Tensor } from "./litert/core.js";

let ready = null;
export const threads = self.crossOriginIsolated
  ? Math.max(1, Math.min(4, navigator.hardwareConcurrency || 1))
  : 1;

export async function open(file, accelerator) {
  ready ??= loadLiteRt("./litert/wasm", { threads: threads > 1 });
  await ready;
  const options = { accelerator };
  if (accelerator === "wasm") options.cpuOptions = { numThreads: threads };
  const compiled = await loadAndCompile(file.path, options);
  const model = new Model(compiled, file);
  await model.run(new Float32Array(model.length)); // the first run allocates
  return model;
}

class Model {
  constructor(compiled, file) {
    this.compiled = compiled;
    this.file = file;
    [this.input] = compiled.getInputDetails();
    this.length = this.input.shape.reduce((product, side) => product * side, 1);
    this.accelerated = compiled.isFullyAccelerated;
  }

  // pixels 0 to 255 -> {logits, attention or null, milliseconds}
  async run(pixels) {
    const values = this.input.dtype === "uint8" ? Uint8Array.from(pixels) : Float32Array.from(pixels);
    const tensor = new Tensor(values, Array.from(this.input.shape));
    const started = performance.now();
    const outputs = await this.compiled.run({ [this.input.name]: tensor });
    const found = {};
    for (const [name, output] of Object.entries(outputs)) found[name] = Array.from(await output.data());
    const milliseconds = performance.now() - started;
    for (const one of [tensor, ...Object.values(outputs)]) one.delete();
    const { scale, zero_point: zero } = this.file.output;
    const logits = scale ? found.logits.map((step) => (step - zero) * scale) : found.logits;
    return { logits, attention: found.attention ?? null, milliseconds };
  }

  close() {
    this.compiled.delete();
  }
}

export function probabilities(logits, kind) {
  if (kind === "sigmoid") return logits.map((value) => 1 / (1 + Math.exp(-value)));
  const most = Math.max(...logits);
  const shares = logits.map((value) => Math.exp(value - most));
  const sum = shares.reduce((total, one) => total + one, 0);
  return shares.map((share) => share / sum);
}
