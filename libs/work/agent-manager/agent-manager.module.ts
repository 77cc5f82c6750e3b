import { Module } from '@nestjs/common';
import { AgentManagerService } from './agents/agent-manager.service.js';
import { AgentRegistration } from './agents/agent-registration.js';
import { AgentTokens } from './agents/agent-tokens.js';
import { FleetService } from './agents/fleet.service.js';
import { AgentFacts } from './heartbeats/agent-facts.js';
import { HeartbeatBuffer } from './heartbeats/heartbeat-buffer.js';
import { HeartbeatValues } from './heartbeats/heartbeat-values.js';
import { HeartbeatWriter } from './heartbeats/heartbeat-writer.js';
import { HeartbeatFlusher } from './heartbeats/heartbeat-flusher.js';
import { Heartbeats } from './heartbeats/heartbeats.js';
import { WriteProbe } from './heartbeats/write-probe.js';
import { AgentsController } from './http/agents.controller.js';
import { FleetController } from './http/fleet.controller.js';
import { HeartbeatsController } from './http/heartbeats.controller.js';

/** Agents: identity and liveness. */
@Module({
  controllers: [AgentsController, FleetController, HeartbeatsController],
  providers: [
    AgentManagerService,
    AgentRegistration,
    AgentTokens,
    FleetService,
    AgentFacts,
    HeartbeatBuffer,
    HeartbeatValues,
    HeartbeatWriter,
    Heartbeats,
    HeartbeatFlusher,
    WriteProbe,
  ],
  exports: [AgentManagerService, Heartbeats, HeartbeatFlusher, HeartbeatWriter, WriteProbe],
})
export class AgentManagerModule {}
