// A picture, as assay/report/pictures/picture.hpp describes it, in the words of ECharts.
import { marksOf } from './marks.js';
import { shortNumber, tickDigits } from './numbers.js';

function axisOf(axis, theme, { vertical, width }) {
  const named = axis.kind === 'category';
  const label = { color: theme.ink, hideOverlap: true };
  let lines = 1;
  if (named && vertical) {
    Object.assign(label, { width: Math.min(220, width * 0.34), overflow: 'truncate', interval: 0 });
  }
  if (named && !vertical) {
    // Few names are broken into lines; of many only some are written.
    const room = (width - 80) / Math.max(1, axis.categories.length);
    const few = { width: room - 4, overflow: 'break', interval: 0, fontSize: 11, lineHeight: 13, hideOverlap: false };
    if (axis.categories.length <= 8) {
      Object.assign(label, few);
      const longest = Math.max(0, ...axis.categories.map((name) => name.length));
      lines = Math.min(4, Math.ceil((longest * 7) / room));
    }
  }
  if (!named) label.formatter = (value) => shortNumber(value, tickDigits(axis));
  return {
    type: axis.kind === 'linear' ? 'value' : axis.kind,
    ...(named ? { data: axis.categories } : { min: axis.low, max: axis.high, minorTick: { show: false } }),
    name: axis.title,
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 10 : 14 + 14 * lines,
    nameTextStyle: { color: theme.soft, align: vertical ? 'left' : 'center' },
    axisLabel: label,
    axisLine: { lineStyle: { color: theme.soft } },
    axisTick: { show: false },
    splitLine: { show: !named, lineStyle: { color: theme.line } },
  };
}

/** Categories are read from the top down where bars lie along them. */
function isSideways(picture) {
  return picture.y.kind === 'category' && picture.x.kind !== 'category';
}

export function heightOf(picture, width) {
  const named = picture.series.filter((series) => series.name).length > 1 ? picture.series : [];
  const letters = named.reduce((sum, series) => sum + (series.name ? series.name.length + 5 : 0), 0);
  const legend = named.length === 0 ? 0 : 24 * Math.ceil((letters * 7) / width);
  const plot = picture.y.kind === 'category' ? Math.max(90, 30 * picture.y.categories.length) : 250;
  return { plot, legend, all: plot + legend + 86 };
}

/** Everything ECharts needs to draw it, `width` pixels wide. */
export function optionOf(picture, theme, width) {
  const { legend } = heightOf(picture, width);
  const vertical = axisOf(picture.y, theme, { vertical: true, width });
  const sideways = isSideways(picture);
  if (sideways) Object.assign(vertical, { inverse: true, name: '' });
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, "DejaVu Sans", sans-serif' },
    grid: { left: 8, right: 18, top: legend + (sideways ? 8 : 28), bottom: 26, containLabel: true },
    // Text only: nothing of the store is ever taken for HTML.
    tooltip: { trigger: 'item', renderMode: 'richText', confine: true, backgroundColor: theme.paper,
      borderColor: theme.line, textStyle: { color: theme.ink, fontSize: 12 } },
    legend: legend === 0 ? undefined : {
      top: 0, left: 0, type: 'plain', itemWidth: 16, itemHeight: 10,
      textStyle: { color: theme.ink, fontSize: 12, width: width - 60, overflow: 'truncate' },
      data: [...new Set(picture.series.map((series) => series.name).filter(Boolean))],
    },
    xAxis: axisOf(picture.x, theme, { vertical: false, width }),
    yAxis: vertical,
    series: picture.series.flatMap((series) => marksOf(series, picture, theme)),
  };
}
