import { bearer, createClient, type DroverClient } from '#lib/api-client';

export interface SignIn {
  email: string;
  password: string;
  workspaceId?: string;
}

/** Sends requests as a person, for the minutes of an access token's life. Fails as requests do. */
export async function signedIn(address: string, body: SignIn): Promise<DroverClient> {
  const anybody = createClient({ baseUrl: address });
  const { accessToken } = await anybody.post('/api/v1/auth/login', { body });
  return anybody.with({ credentials: bearer(accessToken) });
}
