import { SETTINGS } from './known-settings.js';

/** Variables of Drover that are no settings: of sessions, of the command line and of packaging. */
const OTHERS = [
  'DROVER_ACCOUNTS',
  'DROVER_AGENT_TOKEN',
  'DROVER_API_SOCKET',
  'DROVER_APP_PASSWORD',
  'DROVER_ARTIFACTS',
  'DROVER_ATTEMPT',
  'DROVER_CHECKPOINT_FILE',
  'DROVER_CONFIG',
  'DROVER_DEBUG',
  'DROVER_HANDED_OVER',
  'DROVER_HOME',
  'DROVER_IMAGE',
  'DROVER_INPUT_FILE',
  'DROVER_MODEL',
  'DROVER_MODEL_TOKEN',
  'DROVER_OUTPUT_FILE',
  'DROVER_RULES',
  'DROVER_RUN_ID',
  'DROVER_RUN_TOKEN',
  'DROVER_SANDBOX',
  'DROVER_SCRIPT',
  'DROVER_SERVICE_PASSWORD',
  'DROVER_SESSION_ID',
  'DROVER_SESSION_KEY',
  'DROVER_SIGNALS_FILE',
  'DROVER_SLOTS',
  'DROVER_TASK_FILE',
  'DROVER_TASK_ID',
  'DROVER_URL',
  'DROVER_WORK_DIR',
];
const KNOWN: ReadonlySet<string> = new Set([...SETTINGS, ...OTHERS]);
/** Names that Drover's own programs give to the programs of their tests and of their tasks. */
const FAMILIES = ['DROVER_MCP_', 'DROVER_TEST_', 'DROVER_CHAOS_', 'DROVER_MODEL_'];

/** A variable that no program of Drover reads, and the setting that was probably meant. */
export interface Misspelt {
  variable: string;
  nearest: string | undefined;
}

/** The warning of a program that starts with such variables. */
export const UNKNOWN_SETTINGS = 'Unknown settings in the environment';

/**
 * Finds variables that look like settings of any program of Drover, because they all can share one
 * environment. Variables of other programs are only found if they differ by one letter, or by two
 * in a long name.
 */
export function misspeltVariables(env: NodeJS.ProcessEnv): Misspelt[] {
  return Object.keys(env).flatMap((variable) => {
    const name = variable.replace(/_FILE$/, '');
    if (KNOWN.has(variable) || KNOWN.has(name)) return [];
    if (FAMILIES.some((family) => variable.startsWith(family))) return [];
    const nearest = nearestTo(name);
    return nearest !== undefined || variable.startsWith('DROVER_') ? [{ variable, nearest }] : [];
  });
}

/** Short names of other programs resemble settings by chance: HOME is nearly HOST. */
function nearestTo(name: string): string | undefined {
  const most = name.length < 6 ? 0 : name.length < 10 ? 1 : 2;
  const near = [...KNOWN]
    .map((known) => ({ known, distance: distanceOf(name, known, most) }))
    .filter(({ distance }) => distance <= most);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.known;
}

/** The number of inserted, removed, replaced and swapped letters. */
function distanceOf(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row++) {
    const [above, current] = [rows[row - 1] as number[], [row]];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 2] === other[column - 1] && one[row - 1] === other[column - 2];
      const replaced = (above[column - 1] as number) + (isSame ? 0 : 1);
      const shifted = Math.min(above[column] as number, current[column - 1] as number) + 1;
      const swapped = isSwapped ? (rows[row - 2]?.[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(replaced, shifted, swapped));
    }
    rows.push(current);
  }
  return rows.at(-1)?.at(-1) as number;
}
