import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { DroverError, type FieldError } from '#lib/kernel';
import { cutUrl, HOSTS, type Kind } from '../domain/kinds.js';
import type { Refusal } from '../domain/target.js';
import { Recipients } from '../sending/recipients.js';
import { WebhookClient } from '../sending/webhook-client.js';

/** The target of a webhook as stored. */
export interface Target {
  /** The public form, shortened if it is secret. */
  url: string;
  /** The whole URL, if it is secret. */
  secretUrl?: string;
  recipients: string[];
}

/** The requested target. */
export interface TargetRequest {
  url?: string;
  recipients?: string[];
}

/** The URL of e-mail, whose addresses are those of the recipients. */
const MAIL_URL = 'mailto:';
/** The column holds as many characters. */
const MAX_URL = 2_000;

const WORDS: Record<Exclude<Refusal, 'host'>, string> = {
  malformed: 'must be a URL',
  scheme: 'must be an https:// URL, or lead to WEBHOOK_ALLOWED_NETWORKS of the server',
  userinfo: 'must not hold a user name or a password',
  fragment: 'must not have a fragment',
  port: 'must have the port 443 or 8443',
  internal_name: 'must have a host name that is public',
  internal_address: 'must not lead to an address that is not public',
};

/** Checks the targets of webhooks. */
@Injectable()
export class Targets {
  constructor(
    private readonly client: WebhookClient,
    private readonly recipients: Recipients,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mail'>,
  ) {}

  /** @throws DroverError `validation_failed` */
  async of(workspaceId: string, kind: Kind, { url, recipients }: TargetRequest): Promise<Target> {
    if (kind !== 'email') return this.ofUrl(kind, url, recipients);
    if (!this.config.mail) {
      throw refused(
        'kind',
        'must not be email: the server has no SMTP_URL, which an operator sets',
      );
    }
    if (url !== undefined) throw refused('url', 'is not for email: `recipients` says to whom');
    if (!recipients) throw refused('recipients', 'must be there for email');
    return { url: MAIL_URL, recipients: await this.members(workspaceId, recipients) };
  }

  private ofUrl(kind: Kind, url: string | undefined, recipients: unknown): Target {
    if (recipients !== undefined) throw refused('recipients', 'is for email alone');
    if (url === undefined) throw refused('url', `must be there for ${kind}`);
    const judgement = this.client.judgeUrl(kind, url);
    if (judgement.kind === 'refused') throw refused('url', wordsOf(kind, judgement.why));
    if (!HOSTS[kind]) return { url, recipients: [] };
    const shown = cutUrl(url);
    if (shown.length > MAX_URL)
      throw refused('url', `must have at most ${MAX_URL} characters when it is encoded`);
    return { url: shown, secretUrl: url, recipients: [] };
  }

  /** Ids, because an address can change, and a former member receives nothing. */
  private async members(workspaceId: string, wanted: readonly string[]): Promise<string[]> {
    const named = [...new Set(wanted.map((each) => each.toLowerCase()))];
    const members = await this.recipients.among(workspaceId, named);
    const known = new Set([...members].flat());
    const unknown = named.filter((each) => !known.has(each));
    if (unknown.length === 0) return [...members.keys()];
    const message = `must be members of the workspace with a verified address: ${unknown.join(', ')}`;
    throw refused('recipients', message);
  }
}

function wordsOf(kind: Kind, why: Refusal): string {
  return why === 'host' ? `must be a URL of ${HOSTS[kind]?.join(' or ')}` : WORDS[why];
}

export function refused(field: string, message: string): DroverError {
  const errors: FieldError[] = [{ field, message }];
  return new DroverError('validation_failed', { errors });
}
