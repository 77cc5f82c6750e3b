export {
  type Agent,
  type AgentTask,
  type CoordinatorLog,
  Prisma,
  type TaskRun,
} from './generated/client.js';
export { Coalescer } from './coalescer.js';
export { Database, ServiceScope, TenantScope, type DatabaseOptions } from './database.js';
export { isUnreachable, refusesWrites, violatedConstraint } from './db-errors.js';
export { DatabaseModule } from './database.module.js';
export { checkMigrated, migrate, MigrationError } from './migrator/index.js';
export { PoolerError, poolerOf, setRoleLimits } from './pooler.js';
export { createPool } from './pools.js';
export type { PrismaTransaction } from './prisma.js';
export {
  command,
  declared,
  firstRow,
  hotCommand,
  query,
  type Sql,
  type SqlRunner,
  type Step,
} from './sql.js';
export { columnOf, type Columns, fieldsBut, recordOf, type Row, selected } from './rows.js';
export type { Fence, Transaction } from './transaction.js';
