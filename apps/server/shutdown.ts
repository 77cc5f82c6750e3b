import type { INestApplication } from '@nestjs/common';
import { DroverFastifyAdapter } from '#lib/http';
import { endNow } from '#lib/kernel';
import { Health, Logger } from '#lib/observability';

const SIGNALS = { SIGTERM: 15, SIGINT: 2 } as const;
type Signal = keyof typeof SIGNALS;

export interface ShutdownOptions {
  deadlineSeconds: number;
  /** Time for which it continues to serve while it is not ready. It is part of the deadline. */
  delaySeconds?: number;
  exit?: (code: number) => void;
}

/**
 * The first signal shuts the server down in order. It is no longer ready, but serves for
 * `delaySeconds` and asks clients to close their connections, so that a load balancer can look
 * elsewhere. Then it refuses new requests, ends long polls early (in the libraries'
 * `beforeApplicationShutdown`), answers running requests and closes its parts. A second signal or
 * the deadline ends it at once.
 *
 * @returns removes the signal handlers
 */
export function shutDownOnSignals(app: INestApplication, options: ShutdownOptions): () => void {
  const { deadlineSeconds, delaySeconds = 0, exit = (code) => process.exit(code) } = options;
  const force = options.exit ?? endNow;
  const logger = app.get(Logger);
  let closing = false;

  const onSignal = (signal: Signal): void => {
    if (closing) {
      logger.warn('ended at once by a second signal', { signal });
      force(128 + SIGNALS[signal]);
      return;
    }
    closing = true;
    app.get(Health, { strict: false }).beginShutdown();
    logger.info('shutting down', { signal, deadlineSeconds });
    const timer = setTimeout(() => {
      logger.error('not shut down within the deadline; ended with work under way');
      force(1);
    }, deadlineSeconds * 1_000);
    leave(app, delaySeconds).then(
      () => {
        clearTimeout(timer);
        logger.info('stopped');
        exit(0);
      },
      (error: unknown) => {
        logger.error('shutdown failed', { error });
        exit(1);
      },
    );
  };

  for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, onSignal);
  return () => {
    for (const signal of Object.keys(SIGNALS) as Signal[]) process.off(signal, onSignal);
  };
}

async function leave(app: INestApplication, delaySeconds: number): Promise<void> {
  const adapter: unknown = app.getHttpAdapter();
  if (adapter instanceof DroverFastifyAdapter) adapter.leaving = true;
  if (delaySeconds > 0) await new Promise((resolve) => setTimeout(resolve, delaySeconds * 1_000));
  await app.close();
}
