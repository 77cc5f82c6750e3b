import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Database, type DatabaseOptions } from './client/database.js';

/** Provides the `Database` and closes it after every other part has shut down. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(private readonly database: Database) {}

  static forRoot(options: DatabaseOptions): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      providers: [{ provide: Database, useFactory: () => new Database(options) }],
      exports: [Database],
    };
  }

  onApplicationShutdown(): Promise<void> {
    return this.database.close();
  }
}
