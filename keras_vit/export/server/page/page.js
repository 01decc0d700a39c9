"use strict";

const at = (id) => document.getElementById(id);
// Longer sides are drawn smaller: a phone's picture would fill its memory.
const LONGEST = 1200;
let models = [];
let shown = null; // {file, picture, answer}

function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function ask(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: headers() });
  const body = await answer.json();
  at("access").hidden = answer.status !== 401;
  if (!answer.ok) throw new Error(body.error);
  return body;
}

function say(text, isWrong = false) {
  at("status").textContent = text;
  at("status").classList.toggle("wrong", isWrong);
}

function currentModel() {
  return models.find((model) => model.name === at("model").value);
}

async function start() {
  try {
    models = (await ask("page.json")).models.filter((model) => model.takes_pictures);
    at("model").replaceChildren(...models.map((model) => new Option(model.name, model.name)));
    say(models.length ? "Ready for a picture." : "No model here takes pictures.", !models.length);
  } catch (error) {
    say(error.message, true);
  }
}

async function look(file) {
  if (!file || !currentModel()) return;
  at("classes").replaceChildren();
  at("timing").textContent = "";
  say("Looking …");
  const picture = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => null);
  shown = { file, picture, answer: null };
  const mine = shown;
  draw();
  try {
    const started = performance.now();
    const path = `page/look/${encodeURIComponent(currentModel().name)}`;
    const answer = await ask(path, { method: "POST", body: file });
    if (shown !== mine) return; // another picture came meanwhile
    shown.answer = answer;
    tell(answer, performance.now() - started);
    draw();
  } catch (error) {
    if (shown === mine) say(error.message, true);
  }
}

function tell(answer, milliseconds) {
  const [name, score] = answer.classes[0];
  say(`${name}, ${percent(score)}`);
  at("classes").replaceChildren(...answer.classes.map(([label, share]) => row(label, share)));
  const parts = [["decoding", answer.decode_ms], ["model", answer.model_ms], ["in all", milliseconds]];
  const times = parts.map(([part, value]) => `${part} ${value.toFixed(1)} ms`).join(", ");
  at("timing").textContent = `${answer.model}, version ${answer.version}: ${times}`;
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

function row(label, share) {
  const item = document.createElement("li");
  const bar = document.createElement("i");
  bar.style.width = percent(share).replace(" ", "");
  const [name, number] = [label, percent(share)].map((text) => {
    const span = document.createElement("span");
    span.textContent = text;
    return span;
  });
  item.append(bar, name, number);
  return item;
}

function draw() {
  const { picture, answer } = shown;
  const canvas = at("canvas");
  canvas.hidden = !picture;
  at("hint").hidden = Boolean(picture);
  at("tools").hidden = !picture;
  at("drop").classList.toggle("filled", Boolean(picture));
  if (!picture) return;
  const scale = Math.min(1, LONGEST / Math.max(picture.width, picture.height));
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const brush = canvas.getContext("2d");
  brush.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const attention = answer && answer.attention;
  at("attention").parentElement.hidden = Boolean(answer) && !attention;
  if (attention && at("attention").checked) {
    const part = visiblePart(canvas, currentModel().preprocessing);
    brush.drawImage(heat(attention), part.left, part.top, part.width, part.height);
  }
}

// What the model sees: everything, or a centre of its own shape.
function visiblePart(canvas, preprocessing) {
  if (preprocessing.resize === "squash") {
    return { left: 0, top: 0, width: canvas.width, height: canvas.height };
  }
  const [rows, columns] = preprocessing.image_size;
  const scale = Math.min(canvas.height / rows, canvas.width / columns) * preprocessing.crop;
  const [width, height] = [columns * scale, rows * scale];
  return { left: (canvas.width - width) / 2, top: (canvas.height - height) / 2, width, height };
}

// A small picture of the attention: dark where it does not look, clear and warm where it does.
function heat(attention) {
  const values = attention.flat();
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const small = document.createElement("canvas");
  small.width = attention[0].length;
  small.height = attention.length;
  const brush = small.getContext("2d");
  const image = brush.createImageData(small.width, small.height);
  values.forEach((value, index) => {
    const warm = high > low ? (value - low) / (high - low) : 0;
    image.data.set([255 * warm, 150 * warm, 20, 165 - 60 * warm], 4 * index);
  });
  brush.putImageData(image, 0, 0);
  return small;
}

at("file").addEventListener("change", (event) => {
  look(event.target.files[0]);
  event.target.value = ""; // the same file may be chosen again
});
at("attention").addEventListener("change", () => shown && draw());
at("model").addEventListener("change", () => shown && look(shown.file));
at("access").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  start();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") look(event.dataTransfer.files[0]);
  });
}
document.addEventListener("paste", (event) => look(event.clipboardData.files[0]));
start();
