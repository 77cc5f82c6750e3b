import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { findMembers } from '../store/webhooks.sql.js';

/** The allowed recipients of e-mail: members with proven addresses. */
@Injectable()
export class Recipients {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  /**
   * @param wanted ids of users, or addresses in lower case
   * @returns the addresses of the allowed recipients by their ids
   */
  async among(workspaceId: string, wanted: readonly string[]): Promise<Map<string, string>> {
    // With open sign-up a password proves no address.
    const provesAddress = !this.config.identity.openSignUp;
    const params = [workspaceId, wanted, provesAddress];
    const members = await this.database.service.rows(findMembers, params);
    return new Map(members.map(({ id, email }) => [id, email]));
  }
}
