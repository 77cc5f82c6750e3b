import { CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { COMMANDS } from './commands.js';
import { EXIT } from './exit-codes.js';
import { failureOf, misuse } from './failure.js';
import { clean } from './output/clean.js';
import { buildProgram, commandWord } from './program.js';

const FILE_ERRORS = ['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES'];

// A reader that has seen enough (`| head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? EXIT.ok) : EXIT.failed);
  });
}

process.exitCode = await main(process.argv.slice(2)).catch(explain);

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === '--version' || args[0] === '-V') {
    process.stdout.write(`${version()}\n`);
    return EXIT.ok;
  }
  let exitCode: number = EXIT.ok;
  const program = await buildProgram(COMMANDS, commandWord(args), (code) => (exitCode = code));
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.usage;
  }
  await program.parseAsync(args, { from: 'user' });
  return exitCode;
}

/** Of the package that this was built in. */
function version(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    // It has said everything; help that was asked for is no mistake.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  const { message, advice, exitCode } = FILE_ERRORS.includes(
    (error as NodeJS.ErrnoException).code ?? '',
  )
    ? misuse((error as Error).message, 'Name a file that is there and can be read.')
    : failureOf(error);
  process.stderr.write(`drover: ${clean(message)}\n${clean(advice)}\n`);
  if (process.env['DROVER_DEBUG']) process.stderr.write(`${(error as Error).stack}\n`);
  return exitCode;
}
