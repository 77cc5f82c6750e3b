import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hash } from '@node-rs/argon2';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumOptions } from '../../../tools/shared/chromium.js';
import { aUser } from '../../support/factories.js';
import type { TestFleet } from '../../support/fleet.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PASSWORD = 'a password that is long enough';

export interface Person {
  email: string;
  password: string;
}

/** A user who can sign in, with a role in each of the workspaces. */
export async function aPerson(
  { db }: TestFleet,
  workspaceIds: string[],
  role = 'OWNER',
): Promise<Person> {
  const email = `person-${workspaceIds.length}-${role.toLowerCase()}@example.test`;
  const userId = await aUser(db.owner, { email });
  await db.owner.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    userId,
    await hash(PASSWORD),
  ]);
  for (const workspaceId of workspaceIds)
    await db.owner.query(
      'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)',
      [workspaceId, userId, role],
    );
  return { email, password: PASSWORD };
}

/** A browser, and what its pages complained of. */
export class TestBrowser {
  readonly complaints: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly address: string,
  ) {}

  static async start(address: string): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch(await chromiumOptions()), address);
  }

  /** A window with nothing of others. Texts of its pages wait for 45 s before a test fails. */
  async open(options: { dark?: boolean; width?: number } = {}): Promise<Page> {
    const context = await this.browser.newContext({
      baseURL: this.address,
      colorScheme: options.dark ? 'dark' : 'light',
      viewport: { width: options.width ?? 1280, height: 900 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(45_000);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Answers that are refusals are told here too, and pages show them.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(this.address) && !request.url().startsWith('data:'))
        this.complaints.push(`asked ${request.url()}`);
    });
    return page;
  }

  async signedIn(person: Person, options?: { dark?: boolean; width?: number }): Promise<Page> {
    const page = await this.open(options);
    await page.goto('/');
    await signIn(page, person);
    return page;
  }

  stop(): Promise<void> {
    return this.browser.close();
  }
}

export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** What axe finds on the page as it is, one line each. */
export async function findingsOn(page: Page): Promise<string[]> {
  // By the debugger: the page's policy allows no script of others.
  const debug = await (page.context() as BrowserContext).newCDPSession(page);
  await debug.send('Runtime.evaluate', { expression: AXE });
  await debug.detach();
  return page.evaluate(async () => {
    interface Axe {
      run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}
