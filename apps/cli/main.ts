import { CommanderError } from 'commander';
import { projectVersion } from '#lib/kernel';
import { COMMANDS } from './commands.js';
import { EXIT } from './exit-codes.js';
import { toFailure } from './failure.js';
import { clean } from './output/clean.js';
import { buildProgram, commandWord } from './program.js';

// A reader that closes the pipe (`| head`) is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? EXIT.ok) : EXIT.failed);
  });
}

process.exitCode = await main(process.argv.slice(2)).catch(reportError);

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === '--version' || args[0] === '-V') {
    process.stdout.write(`${projectVersion()}\n`);
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

function reportError(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander printed the message. Requested help is not an error.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  const { message, advice, exitCode } = toFailure(error);
  process.stderr.write(`drover: ${clean(message)}\n${clean(advice)}\n`);
  if (process.env['DROVER_DEBUG']) process.stderr.write(`${(error as Error).stack}\n`);
  return exitCode;
}
