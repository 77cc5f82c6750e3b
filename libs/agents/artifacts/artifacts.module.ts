import { Module } from '@nestjs/common';
import { IdentityModule } from '#lib/identity';
import { RunsModule } from '#lib/runs';
import { StoreOfInstallation } from './files/store-of-installation.js';
import { ArtifactsController } from './http/artifacts.controller.js';
import { Artifacts } from './reading/artifacts.js';
import { ArtifactPruner } from './retention/artifact-pruner.js';
import { ArtifactUploads } from './uploads/artifact-uploads.js';

/** Files that runs keep. */
@Module({
  imports: [IdentityModule, RunsModule],
  controllers: [ArtifactsController],
  providers: [Artifacts, ArtifactUploads, ArtifactPruner, StoreOfInstallation],
})
export class ArtifactsModule {}
