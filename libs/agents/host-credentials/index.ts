export { HostCredentials } from './credentials/host-credentials.js';
export { HostCredentialsModule } from './host-credentials.module.js';
