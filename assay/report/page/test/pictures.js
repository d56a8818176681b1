// Pictures with known marks, one for each kind of series.
export const theme = {
  ink: '#000001', soft: '#000002', paper: '#ffffff', line: '#000003',
  colours: ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#8a7a00', '#57606a'],
};

const numbers = (title, low, high, kind = 'linear') => ({ title, kind, low, high, categories: [] });
const names = (title, categories) => (
  { title, kind: 'category', low: -0.5, high: categories.length - 0.5, categories });

export const batch = {
  id: 'batch', question: 'q', title: 'Throughput',
  x: names('batch', ['1', '2', '4']), y: numbers('samples/s', 0, 100),
  series: [
    { name: 'a', kind: 'line', colour: 0,
      marks: [{ x: 0, y: 10, low: 9, high: 12 }, { x: 1, y: 40, low: 38, high: 41 },
        { x: 2, y: 90, low: 88, high: 95 }] },
    { name: '', kind: 'dots', colour: 0, marks: [{ x: 0, y: 9 }, { x: 0, y: 12, note: 'run 1' }] },
  ],
};

export const phases = {
  id: 'phases', question: 'q', title: 'Phases', x: numbers('%', 0, 100), y: names('', ['one', 'two']),
  series: [
    { name: 'forward', kind: 'bars', colour: 0,
      marks: [{ x: 0, y: 0, low: 0, high: 40, text: '40' }, { x: 0, y: 1, low: 0, high: 30 }] },
    { name: 'backward', kind: 'bars', colour: 1, marks: [{ x: 0, y: 0, low: 40, high: 100, text: '60' }] },
  ],
};

export const waterfall = {
  id: 'waterfall', question: 'q', title: 'Waterfall', x: names('', ['peak', 'measured']), y: numbers('ms', 0, 10),
  series: [{ name: '', kind: 'bars', colour: 2,
    marks: [{ x: 0, y: 0, low: 0, high: 4, text: '4' }, { x: 1, y: 0, low: 0, high: 10, text: '10' }] }],
};

export const settings = {
  id: 'settings', question: 'q', title: 'Settings', x: names('intra', ['1', '2']), y: names('inter', ['1 x 1']),
  series: [{ name: 'cost', kind: 'cells', colour: 0,
    marks: [{ x: 0, y: 0, shade: 1, text: '1.00', ringed: true },
      { x: 1, y: 0, shade: 0.2, text: '1.80', hatched: true }] }],
};

export const history = {
  id: 'history', question: 'q', title: 'History', x: names('release', ['1.0', '1.1', '1.2']), y: numbers('ms', 0, 10),
  series: [
    { name: 'median', kind: 'line', colour: 0, marks: [{ x: 0, y: 5 }, { x: 1, y: 5 }, { x: 2, y: 7 }] },
    { name: 'change', kind: 'rules', colour: 3, marks: [{ x: 1.5, y: 0, text: '40 % slower' }] },
  ],
};

export const roofline = {
  id: 'roofline', question: 'q', title: 'Roofline',
  x: numbers('FLOP/byte', 0.1, 1000, 'log'), y: numbers('FLOP/s', 1e9, 1e12, 'log'),
  series: [{ name: 'w', kind: 'dots', colour: 1, marks: [{ x: 10, y: 1e10, low: 5e9, high: 2e10, text: 'conv' }] }],
};

export const all = { batch, phases, waterfall, settings, history, roofline };
