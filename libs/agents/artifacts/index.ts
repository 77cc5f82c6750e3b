export { ArtifactsModule } from './artifacts.module.js';
export { DIFF_OF_CHANGE } from './domain/artifact-file.js';
export { sendArtifact } from './http/send-artifact.js';
export { Artifacts } from './reading/artifacts.js';
export { ArtifactPruner } from './retention/artifact-pruner.js';
export { findLostFiles } from './retention/lost-files.js';
export type { ArtifactStore, StoredFile } from './files/artifact-store.js';
export { FolderStore } from './files/folder-store.js';
