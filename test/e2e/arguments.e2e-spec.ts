import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { Program } from './program.js';

/** Tests the answers of programs that read no setting. */

const start = (app: string, ...args: string[]) =>
  new Program(join(process.cwd(), 'dist/apps', app, 'main.js'), args);

describe.each(['server', 'gateway', 'worker'])('The %s', (app) => {
  it('the %s describes itself and its options with --help', async () => {
    const program = start(app, '--help');
    expect(await program.ended).toBe(0);
    expect(program.output).toMatch(/^Usage: node dist\/apps\/\w+\/main.js/);
  });

  it('the %s does not start with an unknown argument', async () => {
    const program = start(app, '--migrateonly');
    expect(await program.ended).toBe(1);
    expect(program.output).toBe(
      '--migrateonly is no argument of this program: --help says which there are.\n',
    );
  });
});

describe('A worker without a key', () => {
  it('a worker without a key waits, reports it, and ends when it is asked to', async () => {
    const env = { DROVER_API_URL: 'http://127.0.0.1:1', DROVER_API_KEY: '' };
    const worker = new Program(join(process.cwd(), 'dist/apps/worker/main.js'), [], env);
    await worker.complains(/The worker has no key and waits\. Set DROVER_API_KEY/);
    worker.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
  });
});
