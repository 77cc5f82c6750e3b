import { Module } from '@nestjs/common';
import { IdentityModule } from '#lib/identity';
import { RunsModule } from '#lib/runs';
import { StoreOfInstallation } from './files/store-of-installation.js';
import { AgentStatesController } from './http/agent-states.controller.js';
import { ArtifactsController } from './http/artifacts.controller.js';
import { AttachmentsController } from './http/attachments.controller.js';
import { Artifacts } from './reading/artifacts.js';
import { ArtifactPruner } from './retention/artifact-pruner.js';
import { AgentStates } from './states/agent-states.js';
import { ArtifactRoom } from './uploads/artifact-room.js';
import { ArtifactUploads } from './uploads/artifact-uploads.js';
import { Attachments } from './uploads/attachments.js';

/** Files that runs keep. */
@Module({
  imports: [IdentityModule, RunsModule],
  controllers: [ArtifactsController, AttachmentsController, AgentStatesController],
  providers: [
    Artifacts,
    ArtifactRoom,
    ArtifactUploads,
    Attachments,
    AgentStates,
    ArtifactPruner,
    StoreOfInstallation,
  ],
  exports: [Artifacts],
})
export class ArtifactsModule {}
