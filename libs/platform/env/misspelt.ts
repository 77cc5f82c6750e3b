import { nearestWord } from '#lib/kernel';
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
  return nearestWord(name, KNOWN, most);
}
