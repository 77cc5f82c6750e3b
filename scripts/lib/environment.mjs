import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.mjs';

/** Variables for tests, such as DROVER_TEST_FAULTS and DROVER_MODEL_SEED. */
const FOR_TESTS = /^DROVER_(TEST|CHAOS|MODEL|BUDGETS)_/;

/**
 * Removes all settings of Drover's programs, because tests must not depend on the shell that starts
 * them. docs/settings.md lists the settings. Each can also have the suffix `_FILE`.
 */
export function clearSettings(env) {
  const page = readFileSync(join(root, 'docs', 'settings.md'), 'utf8');
  const settings = new Set([...page.matchAll(/^\| `([A-Z][A-Z_]+)`/gm)].map(([, name]) => name));
  for (const name of Object.keys(env)) {
    const isSetting = settings.has(name) || settings.has(name.replace(/_FILE$/, ''));
    const isOurs = name.startsWith('DROVER_') && !FOR_TESTS.test(name);
    if (isSetting || isOurs) delete env[name];
  }
}
