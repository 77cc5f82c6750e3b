import type { INestApplication } from '@nestjs/common';
import type { Logger } from '#lib/observability';
import type { Gateway } from './gateway.js';

const SIGNALS = { SIGTERM: 15, SIGINT: 2, SIGHUP: 1 } as const;
type Signal = keyof typeof SIGNALS;

export interface ShutdownOptions {
  gateway: Gateway;
  app: INestApplication;
  logger: Logger;
  deadlineSeconds: number;
}

/**
 * The first signal drains the gateway: it goes on answering, and takes nothing new. A second one
 * kills the sessions at once. A third one, or the deadline, ends the gateway as it is: the next life
 * takes over what is left.
 */
export function shutDownOnSignals({
  gateway,
  app,
  logger,
  deadlineSeconds,
}: ShutdownOptions): void {
  const hurry = new AbortController();
  let count = 0;

  async function shutDown(): Promise<void> {
    await gateway.drain(hurry.signal);
    await gateway.disconnect();
    await app.close();
  }

  const onSignal = (signal: Signal): void => {
    count += 1;
    if (count === 1) {
      logger.info('shutting down', { signal, deadlineSeconds });
      setTimeout(() => {
        logger.error('not shut down within the deadline; ended with work under way');
        process.exit(1);
      }, deadlineSeconds * 1_000).unref();
      shutDown().then(
        () => {
          logger.info('stopped');
          process.exit(0);
        },
        (error: unknown) => {
          logger.error('shutdown failed', { error });
          process.exit(1);
        },
      );
    } else if (count === 2) {
      logger.warn('a second signal: sessions are killed', { signal });
      hurry.abort();
    } else {
      logger.warn('ended at once by a third signal', { signal });
      process.exit(128 + SIGNALS[signal]);
    }
  };
  for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, onSignal);
}
