import { fit, levels } from "./pixels.js";
import { open, probabilities, threads } from "./model.js";

const at = (id) => document.getElementById(id);
const LONGEST = 1200; // pixels of a side on the page
const TOP = 5;
let description = null;
let model = null;
let shown = null; // {picture, answer}
let stream = null;

function say(text, isWrong = false) {
  at("status").textContent = text;
  at("status").classList.toggle("wrong", isWrong);
}

function radios(group, options) {
  for (const { value, text, note, disabled } of options) {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), {
      type: "radio", name: group, value, disabled: Boolean(disabled),
    });
    const small = Object.assign(document.createElement("small"), { textContent: ` ${note}` });
    label.append(input, ` ${text}`, small);
    at(group).append(label);
  }
  at(group).querySelector("input:not(:disabled)").checked = true;
  at(group).addEventListener("change", load);
}

const size = (bytes) => bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const chosen = (group) => at(group).querySelector("input:checked").value;

async function start() {
  description = await (await fetch("model.json")).json();
  document.title = description.name;
  at("title").textContent = description.name;
  const adapter = navigator.gpu ? await navigator.gpu.requestAdapter().catch(() => null) : null;
  radios("files", description.files.map((file) => (
    { value: file.name, text: file.title, note: size(file.bytes) })));
  radios("engines", [
    { value: "wasm", text: "Processor", note: "WebAssembly" },
    { value: "webgpu", text: "Graphics", note: adapter ? "WebGPU" : "no WebGPU here", disabled: !adapter },
  ]);
  at("threads").textContent = threads > 1
    ? `${threads} threads.`
    : "One thread: more need a page that is isolated from others (https, or localhost, loaded anew).";
  await load();
}

// Loads the chosen file for the chosen engine. What was chosen last wins.
let loading = Promise.resolve();
function load() {
  loading = loading.then(async () => {
    const file = description.files.find((one) => one.name === chosen("files"));
    const engine = chosen("engines");
    if (model && model.file === file && model.engine === engine) return;
    say(`Loading ${file.title} …`);
    try {
      const next = await open(file, engine);
      model?.close();
      model = Object.assign(next, { engine });
      at("where").hidden = !file.attention;
      say("Ready for a picture.");
      if (shown) await look(shown.picture);
    } catch (error) {
      say(`${file.title} does not run on ${engine}: ${error.message ?? error}`, true);
    }
  });
  return loading;
}

async function choose(file) {
  if (!file) return;
  await loading;
  stopCamera();
  try {
    await look(await createImageBitmap(file, { imageOrientation: "from-image", colorSpaceConversion: "none" }));
  } catch {
    say(`${file.name} is no picture that this browser knows.`, true);
  }
}

async function look(picture) {
  if (!model) return;
  const image = levels(picture);
  const answer = await model.run(fit(image, description.preprocessing));
  shown = { picture, answer };
  // For whoever builds on this page, and for its tests.
  self.lastAnswer = { ...answer, file: model.file.name, engine: model.engine };
  tell(answer);
  draw(image);
}

function tell(answer) {
  const { class_names: names, probabilities: kind } = description.preprocessing;
  const shares = probabilities(answer.logits, kind);
  const best = shares.map((share, index) => [share, names[index] ?? String(index)])
    .sort((a, b) => b[0] - a[0]).slice(0, TOP);
  say(`${best[0][1]}, ${percent(best[0][0])}`);
  at("classes").replaceChildren(...best.map(([share, name]) => row(name, share)));
  const speed = `${answer.milliseconds.toFixed(1)} ms for the model`;
  const mixed = model.engine === "webgpu" && !model.accelerated;
  at("timing").textContent = mixed ? `${speed}, part of it on the processor` : speed;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function row(name, share) {
  const item = document.createElement("li");
  const bar = document.createElement("i");
  bar.style.width = `${100 * share}%`;
  const texts = [name, percent(share)].map((text) =>
    Object.assign(document.createElement("span"), { textContent: text }));
  item.append(bar, ...texts);
  return item;
}

function draw(image) {
  const canvas = at("canvas");
  const scale = Math.min(1, LONGEST / Math.max(image.width, image.height));
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.hidden = false;
  at("hint").hidden = true;
  at("drop").classList.add("filled");
  const brush = canvas.getContext("2d");
  brush.drawImage(shown.picture, 0, 0, canvas.width, canvas.height);
  const { attention } = shown.answer;
  if (attention && at("attention").checked) {
    const part = visiblePart(canvas, description.preprocessing);
    brush.drawImage(heat(attention, model.file.attention), ...part);
  }
}

// What the model sees: everything, or a centre of its own shape. [left, top, width, height]
function visiblePart(canvas, { image_size: [rows, columns], resize, crop }) {
  if (resize === "squash") return [0, 0, canvas.width, canvas.height];
  const scale = Math.min(canvas.height / rows, canvas.width / columns) * crop;
  const [width, height] = [columns * scale, rows * scale];
  return [(canvas.width - width) / 2, (canvas.height - height) / 2, width, height];
}

// A small picture of the attention: dark where it does not look, clear and warm where it does.
function heat(attention, [rows, columns]) {
  const [low, high] = [Math.min(...attention), Math.max(...attention)];
  const small = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
  const brush = small.getContext("2d");
  const image = brush.createImageData(columns, rows);
  attention.forEach((value, index) => {
    const warm = high > low ? (value - low) / (high - low) : 0;
    image.data.set([255 * warm, 150 * warm, 20, 165 - 60 * warm], 4 * index);
  });
  brush.putImageData(image, 0, 0);
  return small;
}

async function toggleCamera() {
  if (stream) return stopCamera();
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch (error) {
    return say(`No camera: ${error.message}`, true);
  }
  at("camera").setAttribute("aria-pressed", "true");
  const video = at("video");
  video.hidden = false;
  video.srcObject = stream;
  await video.play();
  while (stream) {
    await loading;
    await look(video);
    await new Promise(requestAnimationFrame);
  }
}

// The last frame stays, as a picture.
function stopCamera() {
  if (!stream) return;
  for (const track of stream.getTracks()) track.stop();
  stream = null;
  at("camera").setAttribute("aria-pressed", "false");
  if (shown?.picture === at("video")) {
    const copy = new OffscreenCanvas(at("canvas").width, at("canvas").height);
    copy.getContext("2d").drawImage(at("video"), 0, 0, copy.width, copy.height);
    shown.picture = copy.transferToImageBitmap();
  }
}

at("file").addEventListener("change", (event) => {
  choose(event.target.files[0]);
  event.target.value = ""; // the same file may be chosen again
});
at("attention").addEventListener("change", () => shown && draw(levels(shown.picture)));
at("camera").addEventListener("click", toggleCamera);
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") choose(event.dataTransfer.files[0]);
  });
}
document.addEventListener("paste", (event) => choose(event.clipboardData.files[0]));

// The service worker keeps the page for days without a network, and isolates it, which is what
// threads need. Isolation begins with the next load.
async function isolate() {
  if (!navigator.serviceWorker) return false;
  const had = navigator.serviceWorker.controller;
  await navigator.serviceWorker.register("service-worker.js");
  await navigator.serviceWorker.ready;
  if (had || self.crossOriginIsolated || sessionStorage.getItem("again")) return false;
  sessionStorage.setItem("again", "1");
  location.reload();
  return true;
}

if (!(await isolate().catch(() => false))) {
  start().catch((error) => say(error.message, true));
}
