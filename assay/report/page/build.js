// Puts script and style into the form, and the hash of the script into its content security policy.
//   node build.js OUTPUT
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];

const bundle = buildSync({
  absWorkingDir: here,
  entryPoints: ['src/main.js'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2019',
  legalComments: 'eof',
  charset: 'ascii',
  write: false,
});
const script = bundle.outputFiles[0].text;
if (/<\/script|<!--|<script/i.test(script)) throw new Error('the script would end its own element');

const hash = `sha256-${createHash('sha256').update(script).digest('base64')}`;
const parts = {
  '@SCRIPT_HASH@': hash,
  '@STYLE@': readFileSync(join(here, 'style.css'), 'utf8').trim(),
  '@SCRIPT@': script,
};
let form = readFileSync(join(here, 'form.html'), 'utf8');
// By a function: a $ in the script is no pattern.
for (const [place, text] of Object.entries(parts)) form = form.replace(place, () => text);
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, form);
