// From a picture to the model's pixels: what keras_vit.data.fit does, in the same order.

// TensorFlow resizes in float32. In float64 a pixel in thousands is rounded to the other side, and
// that one level moves the logits of a model in integers by several of their steps.
const single = Math.fround;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const KERNELS = {
  bilinear: { radius: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  bicubic: {
    radius: 2,
    weight(x) {
      const at = Math.abs(x);
      if (at >= 2) return 0;
      if (at >= 1) return ((-0.5 * at + 2.5) * at - 4) * at + 2;
      return (1.5 * at - 2.5) * at * at + 1;
    },
  },
};

// The picture's own levels, transparency on white: {data: red green blue alpha ..., width, height}.
export function levels(picture) {
  const width = picture.videoWidth || picture.width;
  const height = picture.videoHeight || picture.height;
  const canvas = new OffscreenCanvas(width, height);
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  brush.fillStyle = "white";
  brush.fillRect(0, 0, width, height);
  brush.drawImage(picture, 0, 0);
  return brush.getImageData(0, 0, width, height);
}

// Whole numbers 0 to 255, [height, width, channels] in one row, at the model's size.
export function fit(image, preprocessing) {
  const [height, width] = preprocessing.image_size;
  const channels = preprocessing.mean.length;
  const source = channels === 1 ? grey(image.data) : colours(image.data);
  const [resized, offset] = geometry(image, preprocessing);
  const down = plan(image.height, height, resized[0], offset[0], preprocessing.interpolation);
  const across = plan(image.width, width, resized[1], offset[1], preprocessing.interpolation);
  const rows = along(source, down, image.width * channels, 1, image.height);
  const pixels = along(rows, across, channels, height, image.width);
  return pixels.map((value) => clamp(roundToEven(value), 0, 255));
}

// [size of the whole picture before the cut, where the cut begins], rows first.
function geometry(image, { image_size: size, resize, crop }) {
  if (resize === "squash") return [size, [0, 0]];
  const [high, wide] = size.map((side) => Math.trunc(side / crop));
  const whole = high * image.width >= wide * image.height
    ? [high, Math.floor((high * image.width) / image.height)]
    : [Math.floor((wide * image.height) / image.width), wide];
  return [whole, whole.map((side, axis) => roundToEven((side - size[axis]) / 2))];
}

// For each place of the output: the first place of the input, and the weights from there on.
function plan(from, to, resized, offset, interpolation) {
  const scale = single(resized / from);
  const places = Array.from({ length: to }, (_, place) => place + 0.5);
  if (interpolation === "nearest") {
    const last = from - 1;
    return places.map((at) => [Math.min(Math.floor(single((at + offset) / scale)), last), [1]]);
  }
  const inverse = single(1 / scale);
  const moved = single(inverse * offset);
  const { radius, weight } = KERNELS[interpolation];
  const stretch = Math.max(inverse, 1); // antialiased: wider where the picture shrinks
  const narrow = single(1 / stretch);
  return places.map((place) => {
    const centre = single(single(place * inverse) + moved);
    const first = Math.max(0, Math.ceil(centre - radius * stretch - 0.5));
    const last = Math.min(from - 1, Math.floor(centre + radius * stretch - 0.5));
    const weights = [];
    for (let at = first; at <= last; at++) {
      weights.push(single(weight(single(single(at + 0.5 - centre) * narrow))));
    }
    const share = single(1 / weights.reduce((total, one) => single(total + one), 0));
    return [first, weights.map((one) => single(one * share))];
  });
}

// Resamples one axis: `source` is [outer, side, inner].
function along(source, plans, inner, outer, side) {
  const result = new Float32Array(outer * plans.length * inner);
  for (let block = 0; block < outer; block++) {
    plans.forEach(([first, weights], place) => {
      const target = (block * plans.length + place) * inner;
      weights.forEach((weight, step) => {
        const from = (block * side + first + step) * inner;
        for (let at = 0; at < inner; at++) result[target + at] += single(weight * source[from + at]);
      });
    });
  }
  return result;
}

function colours(data) {
  const result = new Float32Array((data.length / 4) * 3);
  for (let at = 0; at < data.length / 4; at++) {
    for (let channel = 0; channel < 3; channel++) result[3 * at + channel] = data[4 * at + channel];
  }
  return result;
}

function grey(data) {
  const result = new Float32Array(data.length / 4);
  for (let at = 0; at < result.length; at++) {
    const [red, green, blue] = data.subarray(4 * at, 4 * at + 3);
    result[at] = (red * LUMA[0] + green * LUMA[1] + blue * LUMA[2] + 32768) >> 16;
  }
  return result;
}

const LUMA = [19595, 38470, 7471]; // 0.299, 0.587, 0.114 in 65536ths, as Pillow has them

function roundToEven(value) {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
