import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import type { Consumer, Message, Turn, Work } from '#lib/journal';
import { Logger } from '#lib/observability';
import { changesOf } from '../domain/changes.js';
import { PresentState } from '../reading/present-state.js';
import { ViewStore } from './view-store.js';

/** Events gather for this time, so that a busy fleet causes few reads of Postgres. */
const EVERY_MS = 200;
/** Without events, lost keys are noticed after this time, in milliseconds. */
const LOOK_EVERY_MS = 2_000;
const NUMBER = /^\d+$/;

/**
 * Keeps views of tasks, runs and agents in Valkey for programs beside the servers. Nothing in Drover
 * reads them. Events only name the rows, and each write has the present state of Postgres. So a
 * repeated event changes nothing.
 */
@Injectable()
export class RuntimeViews implements Consumer {
  readonly name = 'runtime-views';
  readonly begins = 'next';
  readonly everyMs = EVERY_MS;
  /** The position that this process wrote last. Undefined until it knows that the keys are whole. */
  private written: string | undefined;
  private lookedAt = -Infinity;

  constructor(
    private readonly state: PresentState,
    private readonly store: ViewStore,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'valkey'>,
  ) {}

  isOpen(): boolean {
    return this.store.isReady();
  }

  onOpen(listener: () => void): () => void {
    return this.store.onReady(() => {
      // It may have come back empty.
      this.lookedAt = -Infinity;
      listener();
    });
  }

  async consume(messages: readonly Message[], work: Work): Promise<void> {
    const expected = this.written ?? (await this.takeOver(work));
    this.written = undefined;
    const commands = await this.state.commandsFor(changesOf(messages));
    if (!(await this.store.write(commands, expected, work.to))) {
      throw new Error('The views in Valkey were lost or taken over');
    }
    this.written = work.to;
  }

  /** Looks whether Valkey has lost the keys. */
  async rest(turn: Turn): Promise<void> {
    if (!this.isOpen() || performance.now() - this.lookedAt < LOOK_EVERY_MS) return;
    this.lookedAt = performance.now();
    const position = await this.store.position();
    if (position !== null && NUMBER.test(position)) {
      if (position === this.written) return;
      const isOlder = this.written !== undefined && BigInt(position) < BigInt(this.written);
      this.written = undefined;
      if (!isOlder) return;
    }
    await this.rebuild(await turn.begin(), () => turn.goesOn());
  }

  /** Removes all keys, when nothing writes them any more. */
  async remove(): Promise<void> {
    if (this.isOpen() && (await this.store.position()) !== null) await this.clear();
  }

  /** The keys are whole if they have reached the begin of the batch, whoever wrote them. */
  private async takeOver(work: Work): Promise<string> {
    const position = await this.store.position();
    const isWhole =
      position !== null && NUMBER.test(position) && BigInt(position) >= BigInt(work.from);
    return isWhole ? position : this.rebuild(work.from, () => work.goesOn());
  }

  /** Makes all keys anew from Postgres. @returns their position */
  private async rebuild(position: string, goesOn: () => Promise<void>): Promise<string> {
    const begin = performance.now();
    await this.clear();
    // Refuses the writes of a process that slept, and tells others if this one dies meanwhile.
    const rebuilding = `rebuilding ${randomUUID()}`;
    await this.store.begin(rebuilding);
    for await (const page of this.state.everything()) {
      await goesOn();
      const commands = await this.state.commandsFor(page);
      if (!(await this.store.write(commands, rebuilding, rebuilding))) {
        throw new Error('The views in Valkey were lost while they were rebuilt');
      }
    }
    if (!(await this.store.write([], rebuilding, position))) {
      throw new Error('The views in Valkey were lost while they were rebuilt');
    }
    this.written = position;
    const durationMs = Math.round(performance.now() - begin);
    this.logger.info('Views in Valkey rebuilt', { durationMs });
    return position;
  }

  private clear(): Promise<void> {
    return this.store.clear(this.config.valkey.keyPrefix);
  }
}
