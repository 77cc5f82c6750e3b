export { loadConfig, MAX_LIFETIME_SECONDS, VARIABLES, variables, type Config } from './config.js';
export { CONFIG, ConfigModule } from './config.module.js';
export type { GroupRole } from './values.js';
export type { MailServer } from './mail.js';
