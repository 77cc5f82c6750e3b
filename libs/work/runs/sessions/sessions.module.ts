import { Module } from '@nestjs/common';
import { AdmissionModule } from '#lib/admission';
import { HostCredentialsModule } from '#lib/host-credentials';
import { RunsModule } from '../runs.module.js';
import { GatewayClient } from './gateway/gateway-client.js';
import { GatewayProofs } from './gateway/gateway-proofs.js';
import { GatewayReach } from './gateway/gateway-reach.js';
import { GatewayTokens } from './gateway/gateway-tokens.js';
import { GatewayController } from './http/gateway.controller.js';
import { GatewayGuard } from './http/gateway.guard.js';
import { GatewayHeartbeats } from './reports/gateway-heartbeats.js';
import { GatewaySignals } from './reports/gateway-signals.js';
import { SessionReports } from './reports/session-reports.js';
import { SessionAssigner } from './spawning/session-assigner.js';
import { SpawnAttempts } from './spawning/spawn-attempts.js';
import { SpawnObstacles } from './spawning/spawn-obstacles.js';
import { SpawnRequests } from './spawning/spawn-requests.js';
import { Spawner } from './spawning/spawner.js';

/** Sessions of push agents: the assignment of tasks, the gateway that spawns, and its reports. */
@Module({
  imports: [AdmissionModule, HostCredentialsModule, RunsModule],
  controllers: [GatewayController],
  providers: [
    GatewayTokens,
    GatewayProofs,
    GatewayGuard,
    GatewayClient,
    GatewayReach,
    SpawnAttempts,
    SpawnRequests,
    Spawner,
    SpawnObstacles,
    SessionAssigner,
    GatewayHeartbeats,
    GatewaySignals,
    SessionReports,
  ],
  exports: [GatewayReach, SessionAssigner, SpawnObstacles],
})
export class SessionsModule {}
