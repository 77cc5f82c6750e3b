import { delimiter, isAbsolute, join } from 'node:path';
import type { Fetching } from './valkey-fetch.js';
import { fetchValkey } from './valkey-fetch.js';
import { probe, SERVER_NAMES, type ValkeyProgram } from './valkey-program.js';

/** A server on the PATH, else the distribution's package, fetched once. @throws EmbeddedError */
export async function findValkey(fetching: Fetching): Promise<ValkeyProgram> {
  for (const name of SERVER_NAMES) {
    for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
      const program = await probe(join(folder, name), {});
      if (program) return program;
    }
  }
  return fetchValkey(fetching);
}
