/** Whether supabase-js has kept a session in this browser. */
export function hasSession() {
  try {
    return Object.keys(localStorage).some((key) => /^sb-.+-auth-token$/.test(key));
  } catch {
    return false; // this browser forbids storage
  }
}
