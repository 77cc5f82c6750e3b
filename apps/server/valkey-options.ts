import type { Config } from '#lib/config';
import type { Logger } from '#lib/observability';
import type { ValkeyOptions } from '#lib/valkey';

export function valkeyOptions({ valkey }: Config, logger: Logger): ValkeyOptions {
  return {
    url: valkey.url,
    keyPrefix: valkey.keyPrefix,
    onError: (error) => logger.warn('Valkey can not be reached', { error }),
    onReady: () => logger.info('connected to Valkey'),
  };
}
