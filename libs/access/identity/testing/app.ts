import { Controller, Get, Module, Param, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConfigModule, type Config, loadConfig } from '#lib/config';
import { DatabaseModule } from '#lib/database';
import { configureHttp, createFastifyAdapter } from '#lib/http';
import type { Caller } from '#lib/kernel';
import { Logger, ObservabilityModule } from '#lib/observability';
import { ValkeyModule } from '#lib/valkey';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import { type TestDatabase } from '../../../../test/support/database.js';
import { type Account, Auth, CurrentAccount, CurrentCaller, Public } from '../access/decorators.js';
import { IdentityModule } from '../identity.module.js';

/** One route of each kind, which answers with the caller. */
@Controller('probe')
export class ProbeController {
  @Get('public')
  @Public()
  open() {
    return { open: true };
  }

  @Get('unlimited')
  @Public({ unlimited: true })
  unlimited() {
    return { open: true };
  }

  @Get('any')
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' })
  any(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('agent')
  @Auth({ kinds: ['agent'] })
  agent(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('heartbeat')
  @Auth({ kinds: ['agent', 'run'], heartbeat: true })
  heartbeat(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('role/viewer')
  @Auth({ role: 'VIEWER', scope: 'tasks:read' })
  viewer(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('role/member')
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  member(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('role/admin')
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  admin(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('role/owner')
  @Auth({ role: 'OWNER', scope: 'workspace:admin' })
  owner(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @Get('account')
  @Auth({ workspace: false })
  account(@CurrentAccount() account: Account) {
    return account;
  }

  @Get('in/:workspaceId')
  @Auth({ kinds: ['user', 'agent'] })
  inPath(@Param('workspaceId') workspaceId: string, @CurrentCaller() caller: Caller) {
    return { workspaceId, caller };
  }
}

export interface IdentityApp {
  app: NestFastifyApplication;
  url: string;
  config: Config;
  api(token?: string, workspaceId?: string): ApiClient;
  close(): Promise<void>;
}

export interface IdentityAppOptions {
  env?: Record<string, string>;
  /** Absent means that the application runs without Valkey. */
  valkey?: { url: string; keyPrefix: string };
  controllers?: Type[];
}

/** Identity behind real HTTP, with a route of each kind. */
export async function startIdentityApp(
  db: Pick<TestDatabase, 'appUrl' | 'serviceUrl'>,
  options: IdentityAppOptions = {},
): Promise<IdentityApp> {
  const { env = {}, valkey, controllers = [ProbeController] } = options;
  const config = loadConfig({
    DATABASE_URL: db.appUrl,
    DATABASE_SERVICE_URL: db.serviceUrl,
    VALKEY_URL: valkey?.url ?? 'redis://127.0.0.1:1',
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEYS: `tests:${'A'.repeat(43)}=`,
    ...env,
  });

  @Module({
    imports: [
      ObservabilityModule.forRoot({ logger: Logger.create({ level: 'silent' }) }),
      ConfigModule.forRoot(config),
      DatabaseModule.forRoot({
        ...config.database,
        maxAppConnections: 5,
        maxServiceConnections: 5,
      }),
      ...(valkey ? [ValkeyModule.forRoot(valkey)] : []),
      IdentityModule,
    ],
    controllers,
  })
  class TestModule {}

  const adapter = createFastifyAdapter({ trustedProxies: ['127.0.0.1'] });
  const app = await NestFactory.create<NestFastifyApplication>(TestModule, adapter, {
    logger: false,
    abortOnError: false,
  });
  configureHttp(app);
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const api = (token?: string, workspaceId?: string) =>
    apiClient(url, {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(workspaceId === undefined ? {} : { 'x-workspace-id': workspaceId }),
    });
  return { app, url, config, api, close: () => app.close() };
}
