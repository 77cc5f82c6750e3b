import type { Config } from '#lib/config';
import type { DatabaseOptions } from '#lib/database';
import type { Logger } from '#lib/observability';
import type { ValkeyOptions } from '#lib/valkey';

export function databaseOptions({ database }: Config, logger: Logger): DatabaseOptions {
  return {
    appUrl: database.appUrl,
    serviceUrl: database.serviceUrl,
    maxAppConnections: database.maxAppConnections,
    maxServiceConnections: database.maxServiceConnections,
    statementTimeoutMs: database.statementTimeoutMs,
    pooled: database.pooled,
    applicationName: 'drover-server',
    onError: (error) => logger.warn('idle database connection lost', { error }),
    onSilence: (isSilent) =>
      isSilent
        ? logger.warn('Postgres does not answer; statements are refused')
        : logger.info('Postgres answers again'),
  };
}

export function valkeyOptions({ valkey }: Config, logger: Logger): ValkeyOptions {
  return {
    ...valkey,
    connectionName: 'drover-server',
    onError: (error) => logger.warn('Valkey is out of reach; we go on without', { error }),
    onReady: () => logger.info('Valkey is connected'),
    onRefusal: (error) => logger.warn('Valkey takes no changes; we go on without', { error }),
    onAccepted: () => logger.info('Valkey takes changes again'),
  };
}
