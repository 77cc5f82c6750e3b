import { setTimeout as delay } from 'node:timers/promises';
import { MAX_OUTPUT_BYTES, type SpawnError } from '../drivers/driver.js';
import { OutputTail } from '../output/output-tail.js';
import { Redactor } from '../output/redactor.js';
import { MAX_BYTES_PER_SECOND, Throttle } from '../output/throttle.js';
import { FirstProcess } from './first-process.js';
import { ownRef } from './process-tree.js';
import { type Ended, type NotStarted, SessionFolder } from './session-folder.js';
import type { ShimAnswer, ShimOrder } from './shim-order.js';

/** A full disk can get free again: the interval and the number of attempts to write the end. */
const WRITE_AGAIN_MS = 1_000;
const WRITE_ATTEMPTS = 60;

/** Starts one session and follows it to its end. */
export class Shim {
  private readonly folder: SessionFolder;
  private readonly tail: OutputTail;

  constructor(
    private readonly order: ShimOrder,
    private readonly answer: (answer: ShimAnswer) => void,
  ) {
    this.folder = new SessionFolder(order.root, order.launch);
    this.tail = new OutputTail(new Redactor(order.secrets), MAX_OUTPUT_BYTES);
  }

  async run(): Promise<void> {
    if (!this.folder.claim(ownRef())) return this.answer({ kind: 'refused' });
    const first = await this.start();
    if ('kind' in first) {
      await this.conclude(first);
      return this.answer(first);
    }
    const { leader, startedAt } = first;
    this.folder.writeStarted({ leader, startedAt });
    this.answer({ kind: 'started', leader, startedAt });
    const throttle = new Throttle(MAX_BYTES_PER_SECOND);
    const exit = await first.follow(this.folder, this.tail, throttle);
    const endedAt = new Date().toISOString();
    await this.conclude({ kind: 'exited', ...exit, output: this.tail.text(), endedAt });
  }

  private async start(): Promise<FirstProcess | NotStarted> {
    try {
      return await FirstProcess.start(this.order, this.order);
    } catch (error) {
      const { message, failureClass } = error as SpawnError;
      return { kind: 'failed', message, passing: failureClass === 'infrastructure' };
    }
  }

  private async conclude(ended: Ended): Promise<void> {
    for (let attempt = 1; attempt <= WRITE_ATTEMPTS; attempt += 1) {
      try {
        this.folder.writeEnded(ended);
        return;
      } catch (error) {
        // The folder was removed, so nobody needs the end.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        await delay(WRITE_AGAIN_MS);
      }
    }
  }
}
