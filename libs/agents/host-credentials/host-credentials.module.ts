import { Module } from '@nestjs/common';
import { HostCredentials } from './credentials/host-credentials.js';
import { HostCredentialsController } from './http/host-credentials.controller.js';
import { RunHostCredentialsController } from './http/run-host-credentials.controller.js';

/** Headers that the hosts of sessions add to requests to one host. */
@Module({
  controllers: [HostCredentialsController, RunHostCredentialsController],
  providers: [HostCredentials],
  exports: [HostCredentials],
})
export class HostCredentialsModule {}
