import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import type { ArtifactStore } from './artifact-store.js';
import { FolderStore } from './folder-store.js';

/** The store that the settings name, if any. */
@Injectable()
export class StoreOfInstallation {
  /** Undefined: the installation keeps no artifacts. */
  readonly store: ArtifactStore | undefined;

  constructor(@Inject(CONFIG) { artifacts }: Pick<Config, 'artifacts'>) {
    this.store = artifacts.folder === undefined ? undefined : new FolderStore(artifacts.folder);
  }

  /** @throws DroverError `artifacts_disabled` */
  require(): ArtifactStore {
    if (this.store) return this.store;
    throw new DroverError('artifacts_disabled');
  }
}
