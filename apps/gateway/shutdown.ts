import type { INestApplication } from '@nestjs/common';
import { StopRequests } from '#lib/agent-host';
import { endNow } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import type { Gateway } from './gateway.js';

export interface ShutdownOptions {
  gateway: Gateway;
  app: INestApplication;
  logger: Logger;
  deadlineSeconds: number;
}

/**
 * The first signal drains the gateway: it still answers, and accepts nothing new. A second one
 * kills the sessions at once. A third one, or the deadline, ends the gateway at once: a restarted
 * gateway takes over the sessions that are left. SIGUSR2 drains it without a deadline.
 */
export function shutDownOnSignals({
  gateway,
  app,
  logger,
  deadlineSeconds,
}: ShutdownOptions): void {
  const stop = new StopRequests();
  let ending: Promise<never> | undefined;

  async function shutDown(): Promise<never> {
    await gateway.drain(stop);
    await gateway.disconnect();
    await app.close();
    logger.info('Stopped');
    process.exit(0);
  }

  function beginShutdown(): void {
    ending ??= shutDown().catch((error: unknown) => {
      logger.error('Shutdown failed', { error });
      process.exit(1);
    });
  }

  stop.listen((step, signal, exitCode) => {
    if (step === 'finish') {
      logger.info('Shutting down after the last session', { signal });
      beginShutdown();
    } else if (step === 'drain') {
      logger.info('Shutting down', { signal, deadlineSeconds });
      setTimeout(() => {
        logger.error('Deadline of the shutdown passed; ending with work under way');
        endNow(1);
      }, deadlineSeconds * 1_000).unref();
      beginShutdown();
    } else if (step === 'hurry') {
      logger.warn('Second signal received; killing sessions', { signal });
    } else {
      logger.warn('Third signal received; ending at once', { signal });
      endNow(exitCode);
    }
  });
}
