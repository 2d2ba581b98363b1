// Rows of people, follow buttons, and lists of people.

import {h} from '#design/dom';
import {plural} from '#design/format';
import {state} from '#design/states';
import {toast} from '#design/toast';
import type {Direction, User} from './api';
import type {App} from './app';
import {endless} from './endless';
import {PagedList} from './paged_list';
import {avatar, momentaryDialog, whileBusy} from './parts';
import {profileHash} from './routes';
import {explain, isCode} from './words';

export const nameOf = (user: {username: string; display_name: string}) => user.display_name || user.username;

// Null for oneself.
export function followButton(app: App, user: User): HTMLButtonElement | null {
  if (user.id === app.user()?.id) return null;
  const button = h('button', {type: 'button', class: 'button follow'});
  const show = () => {
    const following = user.is_following === true;
    button.textContent = following ? 'Following' : 'Follow';
    button.classList.toggle('button-primary', !following);
    button.setAttribute('aria-pressed', String(following));
    button.setAttribute('aria-label', `Follow ${user.username}`);
  };
  const press = async () => {
    const wanted = user.is_following !== true;
    user.is_following = wanted;
    show();
    try {
      await (wanted ? app.api.follow(user.id) : app.api.unfollow(user.id));
    } catch (error) {
      // Another tab was faster: the state is already as desired.
      if (!isCode(error, 'already_following', 'not_following')) {
        user.is_following = !wanted;
        show();
        toast(`${wanted ? 'Following' : 'Unfollowing'} ${user.username} failed. ${explain(error)}`, {bad: true});
        return;
      }
    }
    app.changes.tell({kind: 'follow-changed', user: user.id, following: wanted});
  };
  button.addEventListener('click', () => {
    if (app.hasAccount()) void whileBusy(button, press);
  });
  show();
  return button;
}

export function personRow(app: App, user: User): HTMLElement {
  return h(
    'li',
    {class: 'person', 'data-id': user.id},
    avatar(nameOf(user), user.id),
    h(
      'div',
      {class: 'person-words'},
      h('a', {class: 'person-name', href: profileHash(user.id), dir: 'auto'}, nameOf(user)),
      h(
        'p',
        {class: 'muted person-about'},
        `@${user.username}\u00a0· `,
        h('span', {class: 'nowrap'}, plural(user.follower_count, 'follower')),
      ),
    ),
    followButton(app, user),
  );
}

export const personSkeleton = () =>
  h(
    'div',
    {class: 'person'},
    h('span', {class: 'avatar avatar-medium skeleton'}),
    h(
      'div',
      {class: 'person-words'},
      h('span', {class: 'skeleton skeleton-name'}),
      h('span', {class: 'skeleton skeleton-about'}),
    ),
  );

// The followers of a user, or those whom the user follows.
export function openPeople(app: App, user: User, direction: Direction) {
  const list = new PagedList<User>((cursor) => app.api.people(user.id, direction, cursor));
  const rows = h('ul', {role: 'list', class: 'people'});
  const title = direction === 'followers' ? 'Followers' : 'Following';
  const scroller = h('div', {class: 'sheet-scroller'}, rows);
  const foot = endless({
    list,
    end: '',
    failed: 'The list could not be loaded.',
    root: scroller,
    load: async () => {
      rows.append(...(await list.loadMore()).map((person) => personRow(app, person)));
      if (!list.complete || list.items.length > 0) return;
      scroller.prepend(
        state({
          icon: 'person',
          title: direction === 'followers' ? 'No followers yet' : 'Nobody yet',
          text:
            direction === 'followers' ? `Nobody follows ${user.username} yet.` : `${user.username} follows nobody yet.`,
        }),
      );
    },
  });
  scroller.append(foot.element);
  const box = momentaryDialog(title, 'sheet', scroller);
  box.element.addEventListener('close', foot.stop);
  box.open();
}
