// Draws every picture of the page, and again when its width or its colours change. Without this script the plain
// drawings stay.
import { echarts } from './charts.js';
import { csvOf, jsonOf } from './download.js';
import { heightOf, optionOf } from './option.js';
import { themeOf } from './theme.js';

const page = JSON.parse(document.getElementById('report-data').textContent);

function button(text, label, act) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.setAttribute('aria-label', label);
  made.addEventListener('click', () => act(made));
  return made;
}

function save(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Pages from a disk may not use the clipboard in every browser; a selection always works. */
async function copy(text, from, made) {
  try {
    await navigator.clipboard.writeText(text);
    made.textContent = 'Copied';
  } catch {
    const range = document.createRange();
    range.selectNodeContents(from);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    made.textContent = 'Selected';
  }
  setTimeout(() => { made.textContent = 'Copy'; }, 1500);
}

function addButtons(figure, picture) {
  const caption = figure.querySelector('figcaption');
  const code = caption.querySelector('code');
  if (code) {
    const label = `Copy the command of ${picture.title}`;
    caption.append(button('Copy', label, (made) => copy(picture.command, code, made)));
  }
  caption.append(
    button('CSV', `Data of ${picture.title} as CSV`, () => save(`${picture.id}.csv`, 'text/csv', csvOf(picture))),
    button('JSON', `Data of ${picture.title} as JSON`,
      () => save(`${picture.id}.json`, 'application/json', jsonOf(picture))),
  );
}

const drawn = new Map();

function draw(figure, picture) {
  figure.classList.add('drawn');
  const place = figure.querySelector('.live');
  const width = place.clientWidth;
  if (width === 0) return;
  place.style.height = `${heightOf(picture, width).all}px`;
  const chart = drawn.get(figure) ?? echarts.init(place, null, { renderer: 'svg' });
  drawn.set(figure, chart);
  chart.resize();
  chart.setOption(optionOf(picture, themeOf(getComputedStyle(document.documentElement)), width), { notMerge: true });
}

const figures = [...document.querySelectorAll('figure[data-picture]')];
const pictures = figures.map((figure) => page.pictures[Number(figure.dataset.picture)]);

function drawAll() {
  figures.forEach((figure, i) => draw(figure, pictures[i]));
}

figures.forEach((figure, i) => addButtons(figure, pictures[i]));
drawAll();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
let width = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  requestAnimationFrame(drawAll);
});
