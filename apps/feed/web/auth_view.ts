// Sign-in and sign-up.

import {h, setText} from '#design/dom';
import {HttpError} from '#design/http';
import {mark} from '#design/icons';
import {segmented} from '#design/segmented';
import type {App, View} from './app';
import {field, whileBusy} from './parts';
import {explain} from './words';

type Mode = 'sign-in' | 'register';

// Validates the input without asking the server.
export function complaint(
  mode: Mode,
  username: string,
  password: string,
): {text: string; about: 'username' | 'password'} | undefined {
  if (username === '') return {text: 'Please enter your username.', about: 'username'};
  if (password === '') return {text: 'Please enter your password.', about: 'password'};
  if (mode === 'sign-in') return undefined;
  if (!/^[a-z0-9._]{3,30}$/i.test(username)) {
    return {text: 'A username has 3 to 30 letters, digits, dots or underscores.', about: 'username'};
  }
  if ([...password].length < 8) return {text: 'A password has at least 8 characters.', about: 'password'};
  return undefined;
}

export function authView(app: App): View {
  let mode: Mode = 'sign-in';
  const username = h('input', {
    class: 'input',
    name: 'username',
    autocomplete: 'username',
    autocapitalize: 'none',
    spellcheck: 'false',
    maxlength: 30,
    dir: 'auto',
  });
  const displayName = h('input', {
    class: 'input',
    name: 'display-name',
    autocomplete: 'name',
    maxlength: 60,
    dir: 'auto',
  });
  const password = h('input', {class: 'input', name: 'password', type: 'password', maxlength: 200});
  const error = h('p', {class: 'form-error', id: 'auth-error', role: 'alert', hidden: true});
  const button = h('button', {type: 'submit', class: 'button button-primary'});
  const nameField = field('Name (optional)', 'display-name', displayName);
  const usernameHint = h('p', {class: 'hint', id: 'username-hint'}, '3 to 30 letters, digits, dots or underscores');
  const passwordHint = h('p', {class: 'hint', id: 'password-hint'}, 'At least 8 characters');
  const label = () => (mode === 'sign-in' ? 'Sign in' : 'Create account');

  const complain = (text: string, about?: HTMLInputElement) => {
    setText(error, text);
    error.hidden = text === '';
    for (const input of [username, password]) {
      input.setAttribute('aria-invalid', String(input === about));
      input.setAttribute('aria-describedby', mode === 'register' ? `auth-error ${input.id}-hint` : 'auth-error');
    }
    about?.focus();
  };
  const show = () => {
    for (const part of [nameField, usernameHint, passwordHint]) part.hidden = mode === 'sign-in';
    password.autocomplete = mode === 'sign-in' ? 'current-password' : 'new-password';
    setText(button, label());
    complain('');
  };
  const send = async () => {
    const account = {username: username.value.trim(), password: password.value};
    const wrong = complaint(mode, account.username, account.password);
    if (wrong) return complain(wrong.text, wrong.about === 'username' ? username : password);
    complain('');
    setText(button, mode === 'sign-in' ? 'Signing in…' : 'Creating your account…');
    try {
      const name = displayName.value.trim();
      await (mode === 'sign-in'
        ? app.session.signIn(account)
        : app.session.register({...account, ...(name ? {display_name: name} : {})}));
    } catch (reason) {
      const about = !(reason instanceof HttpError)
        ? undefined
        : reason.status === 401
          ? password
          : reason.status === 409
            ? username
            : undefined;
      complain(explain(reason), about);
    } finally {
      setText(button, label());
    }
  };
  const choice = segmented(
    'What to do',
    [
      {value: 'sign-in', label: 'Sign in'},
      {value: 'register', label: 'Create account'},
    ] as const,
    mode,
    (chosen) => {
      mode = chosen;
      show();
    },
  );
  const usernameField = field('Username', 'username', username);
  const passwordField = field('Password', 'password', password);
  usernameField.append(usernameHint);
  passwordField.append(passwordHint);
  // Replaces the browser's validation bubbles with our messages.
  const form = h('form', {class: 'form', novalidate: true}, error, usernameField, nameField, passwordField, button);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, send);
  });
  show();
  return {
    element: h(
      'section',
      {class: 'auth'},
      h('div', {class: 'auth-mark'}, mark()),
      h('h1', {tabindex: -1}, 'Photo feed'),
      h('p', {class: 'muted'}, 'Pictures by the people you follow, newest first.'),
      h('div', {class: 'card auth-card'}, choice.element, form),
    ),
    title: 'Sign in',
  };
}
