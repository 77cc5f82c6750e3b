import { z } from 'zod';

/** The mail server. */
export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte, by STARTTLS, or none. */
  tls: 'implicit' | 'starttls' | 'none';
  user?: string;
  password?: string;
}

const FORM =
  'must be smtps://user:password@host:port, or smtp://… for STARTTLS (with ?tls=none: without any)';
/** Ports of mail submission: 465 with TLS from the start, 587 with STARTTLS. */
const PORTS = { implicit: 465, starttls: 587, none: 25 };

const SENDER = /^(?:[^<>"\r\n]{1,100} )?<?[^\s<>@"]{1,64}@[A-Za-z0-9.-]{1,190}>?$/;

/** A `smtp://` or `smtps://` URL, parsed. */
export const mailServer = z.string().transform((text, context): MailServer => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const server = url && serverOf(url);
  if (server) return server;
  context.addIssue({ code: 'custom', message: FORM });
  return z.NEVER;
});

/** One address, optionally with a name before it. */
export const mailSender = z
  .string()
  .refine(
    (text) => SENDER.test(text) && text.includes('<') === text.endsWith('>'),
    'must be an address, or a name and an address: Drover <drover@example.com>',
  );

function serverOf(url: URL): MailServer | undefined {
  if (!['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') return undefined;
  if (!['', '?tls=none'].includes(url.search) || !['', '/'].includes(url.pathname))
    return undefined;
  const tls = tlsOf(url);
  return tls && { host: hostOf(url), port: Number(url.port) || PORTS[tls], tls, ...accountOf(url) };
}

function tlsOf({ protocol, search }: URL): MailServer['tls'] | undefined {
  if (protocol === 'smtps:') return search === '' ? 'implicit' : undefined;
  return search === '' ? 'starttls' : 'none';
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

function accountOf({ username, password }: URL): Pick<MailServer, 'user' | 'password'> {
  return username === '' ? {} : { user: decoded(username), password: decoded(password) };
}

/** A percent sign that starts no code stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
